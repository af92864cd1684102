-- name: insertUser
-- returning: single
-- parameters:
--   email: string
--   name: string
-- resultRowType: long
INSERT INTO users (email, name)
VALUES (:email, :name)
RETURNING id;

-- name: updateUserName
-- parameters:
--   id: long
--   name: string
-- executeBatch: true
UPDATE users SET name = :name WHERE id = :id;

-- name: addUserTag
-- parameters:
--   id: long
--   tag: string
UPDATE users SET tags = tags || ARRAY[:tag] WHERE id = :id;

-- name: deleteUser
-- parameters:
--   id: long
-- createConnection: false
-- description: Runs in the transaction of its caller.
DELETE FROM users WHERE id = :id;
