ALTER TABLE "grant" ALTER COLUMN "user_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "client" ADD COLUMN "further_redirect_uris" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "client" ADD COLUMN "grant_types" text[] DEFAULT '{"password","authorization_code","refresh_token"}' NOT NULL;