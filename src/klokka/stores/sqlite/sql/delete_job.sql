-- [operate.delete]
delete from klokka_jobs
where id = ?1
