"""The contract in PostgreSQL: one statement for each verb, by the server's clock."""
