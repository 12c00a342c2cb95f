-- Accounts of PostgreSQL, once, as its superuser: psql --username postgres --file roles.sql
-- The passwords come from the environment: DATABASE_PASSWORD, REPLIES_PASSWORD.
-- parley owns the database and is no superuser; after `manage.py migrate`,
-- `manage.py database_rights parley_replies` gives reply workers what they need, and no more.
\set ON_ERROR_STOP on
\getenv database_password DATABASE_PASSWORD
\getenv replies_password REPLIES_PASSWORD
CREATE ROLE parley LOGIN PASSWORD :'database_password';
CREATE ROLE parley_replies LOGIN PASSWORD :'replies_password';
CREATE DATABASE parley OWNER parley ENCODING 'UTF8' TEMPLATE template0;
REVOKE CONNECT, TEMPORARY ON DATABASE parley FROM PUBLIC;
GRANT CONNECT ON DATABASE parley TO parley_replies;
