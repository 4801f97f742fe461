ALTER TABLE "attempt" ADD COLUMN "failures" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "attempt" ADD COLUMN "counted_at" timestamp (3) with time zone DEFAULT now() NOT NULL;