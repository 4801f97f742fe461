ALTER TABLE "client" ADD COLUMN "require_state" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "grant" ADD COLUMN "began_at" timestamp (3) with time zone;