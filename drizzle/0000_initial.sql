CREATE TABLE "attempt" (
	"key" "bytea" PRIMARY KEY NOT NULL,
	"count" integer NOT NULL,
	"ends_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "client" (
	"id" text PRIMARY KEY NOT NULL,
	"secret_digest" "bytea",
	"previous_digest" "bytea",
	"previous_until" timestamp (3) with time zone,
	"redirect_uri" text,
	"allowed_scopes" text[] NOT NULL,
	"name" text,
	"require_pkce" boolean NOT NULL,
	CONSTRAINT "previous_secret" CHECK (("client"."previous_digest" is null) = ("client"."previous_until" is null))
);
--> statement-breakpoint
CREATE TABLE "code" (
	"digest" "bytea" PRIMARY KEY NOT NULL,
	"grant_id" uuid NOT NULL,
	"redirect_uri" text,
	"challenge" text,
	"issuedate" timestamp (3) with time zone NOT NULL,
	"expirationdate" timestamp (3) with time zone NOT NULL,
	"spent" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE "grant" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" bigint NOT NULL,
	"client_id" text NOT NULL,
	"scopes" text[] NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"revoked_at" timestamp (3) with time zone,
	"sweep_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "hero" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "hero_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	"name_lower" text NOT NULL,
	CONSTRAINT "hero_name_unique" UNIQUE("name")
);
--> statement-breakpoint
CREATE TABLE "token" (
	"access_digest" "bytea" PRIMARY KEY NOT NULL,
	"refresh_digest" "bytea",
	"grant_id" uuid NOT NULL,
	"scopes" text[] NOT NULL,
	"issuedate" timestamp (3) with time zone NOT NULL,
	"expirationdate" timestamp (3) with time zone NOT NULL,
	"refresh_expirationdate" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	"spent_at" timestamp (3) with time zone,
	"nonce" "bytea"
);
--> statement-breakpoint
CREATE TABLE "user" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "user_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"username" text NOT NULL,
	"hashedpassword" text NOT NULL,
	"salt" text NOT NULL,
	"generation" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "user_username_unique" UNIQUE("username")
);
--> statement-breakpoint
ALTER TABLE "code" ADD CONSTRAINT "code_grant_id_grant_id_fk" FOREIGN KEY ("grant_id") REFERENCES "public"."grant"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "grant" ADD CONSTRAINT "grant_user_id_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "grant" ADD CONSTRAINT "grant_client_id_client_id_fk" FOREIGN KEY ("client_id") REFERENCES "public"."client"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "token" ADD CONSTRAINT "token_grant_id_grant_id_fk" FOREIGN KEY ("grant_id") REFERENCES "public"."grant"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "attempt_ends_at" ON "attempt" USING btree ("ends_at");--> statement-breakpoint
CREATE INDEX "code_grant_id" ON "code" USING btree ("grant_id");--> statement-breakpoint
CREATE INDEX "grant_user_id" ON "grant" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "grant_client_id" ON "grant" USING btree ("client_id");--> statement-breakpoint
CREATE INDEX "grant_sweep_at" ON "grant" USING btree ("sweep_at");--> statement-breakpoint
CREATE UNIQUE INDEX "token_refresh_digest" ON "token" USING btree ("refresh_digest");--> statement-breakpoint
CREATE INDEX "token_grant_id" ON "token" USING btree ("grant_id");--> statement-breakpoint
CREATE INDEX "token_nonce" ON "token" USING btree ("spent_at") WHERE "token"."nonce" is not null;