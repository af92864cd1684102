-- SPDX-License-Identifier: Apache-2.0

-- No front matter is needed where the name of the file says it all: this statement is called findUsers, it is reading,
-- returns multiple rows, and belongs to com.example.shop.UserRepository. (An empty line below keeps this a comment.)

SELECT id, email, name, created_at
  FROM users
 ORDER BY id;

-- name: findUserById
-- returning: single
-- parameters:
--   - name: id
--     type: long
-- resultRowType: com.example.shop.User
-- resultRowColumns:
--   registered: created_at
SELECT id, email, name, created_at
  FROM users
 WHERE id = :id;

-- name: findUserByEmail
-- returning: single
-- parameters:
--   email: string
-- resultRowType: com.example.shop.User
-- resultRowColumns:
--   registered: created_at
-- throwOnMultipleResults: true
-- description: The comparison ignores case.
SELECT id, email, name, created_at
  FROM users
 WHERE lower(email) = lower(:email);

-- name: findUsersSince
-- returning: cursor
-- parameters:
--   since: instant
-- description: Streams users that registered since an instant, the newest first.
SELECT id, email, name, created_at
  FROM users
 WHERE created_at >= :since::timestamptz
 ORDER BY created_at DESC;

-- name: countUsers
-- returning: single
-- resultRowType: long
SELECT count(*) FROM users;
