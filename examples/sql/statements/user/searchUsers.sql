-- name: searchUsersByTags
-- parameters:
--   tags: string[]
-- description: Question marks between values are operators of PostgreSQL, not parameters.
SELECT id, name
  FROM users
 WHERE to_jsonb(tags) ?| :tags
   AND settings ? 'newsletter';

-- name: searchUsersByIds
-- parameters:
--   ids: List<Long>
SELECT id, name FROM users WHERE id IN (:ids);

-- name: findFirstTags
-- parameters:
--   count: int
SELECT id, tags[1:2] AS first_tags
  FROM users
 WHERE cardinality(tags) >= :count;
