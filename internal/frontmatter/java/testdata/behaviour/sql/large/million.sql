-- name: findMillion
-- returning: cursor
-- resultRowType: string
SELECT repeat('x', 200) FROM generate_series(1, 1000000);
