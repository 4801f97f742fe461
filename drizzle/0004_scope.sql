CREATE TABLE "scope" (
	"name" text PRIMARY KEY NOT NULL,
	"text" text NOT NULL
);
