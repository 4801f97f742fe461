CREATE TABLE "known_login" (
	"key" "bytea" PRIMARY KEY NOT NULL,
	"known_until" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE INDEX "known_login_until" ON "known_login" USING btree ("known_until");