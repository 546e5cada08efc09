-- Names are looked for where a session of qmon begins, after a library's functions and triggers have found their own.
SET LOCAL search_path = pg_catalog, pg_temp
