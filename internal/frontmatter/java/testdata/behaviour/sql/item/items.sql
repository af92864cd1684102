-- name: insertItem
-- description: Inserts "an item". C:\users @deprecated */ <b>&amp; 😀 {@code x}
INSERT INTO items (id, name, status, created, zip, city_name)
VALUES (:id, :name, :status, :created, :zip, :cityName);

-- name: findItem
-- returning: single
-- resultRowType: test.model.Item
-- resultRowColumns:
--   address.city: city_name
SELECT * FROM items WHERE id = :id;

-- name: findItems
-- resultRowType: test.model.Item
-- resultRowColumns:
--   address.city: city_name
SELECT * FROM items ORDER BY id;

-- name: findItemsByIds
-- parameters:
--   ids: List<Long>
--   status: test.model.Status
--   others: Set<Long>
-- resultRowType: long
SELECT id FROM items WHERE id IN (:ids) AND status = :status AND id NOT IN ( :others ) ORDER BY id;

-- name: findByStatus
-- returning: single
-- throwOnMultipleResults: true
-- parameters:
--   status: test.model.Status
-- resultRowType: test.model.Code
SELECT id FROM items WHERE status = :status;

-- name: findStatus
-- returning: single
-- resultRowType: test.model.Status
SELECT status FROM items WHERE id = :id;

-- name: findName
-- returning: single
-- resultRowType: string
SELECT name FROM items WHERE id = :id;

-- name: findMaps
SELECT id, name FROM items ORDER BY id;

-- name: findTwice
SELECT id, id FROM items;

-- name: findConverted
-- resultRowConverter: test.model.NameConverter
-- catchAndRethrow: false
SELECT name FROM items ORDER BY id;

-- name: findInjected
-- resultRowConverter:
--   alias: other
--   converterType: test.model.NameConverter
--   methodName: asName
--   resultType: string
-- injectConverters: true
SELECT name FROM items ORDER BY id;

-- name: findStream
-- returning: cursor
-- resultRowType: test.model.Item
-- resultRowColumns:
--   address.city: city_name
SELECT * FROM items ORDER BY id;

-- name: readNothing
-- returning: none
-- parameters: {connection: string, statement: int}
SELECT count(*) FROM items WHERE name = :connection AND id = :statement;

-- name: findBroken
-- returning: cursor
-- catchAndRethrow: false
SELECT nope FROM items;

-- name: findBrokenList
SELECT nope FROM items;

-- name: updateName
-- parameters:
--   name: string
--   id: long
-- executeBatchPrefix: all
-- executeBatchSuffix: ""
-- executeOncePrefix: do
-- annotations:
--   - type: java.lang.Deprecated
--     members:
--       - key: since
--         value: "2.0"
--       - key: forRemoval
--         value: false
UPDATE items SET name = :name WHERE id = :id AND :id > 0;

-- name: updateQuietly
-- writesReturnUpdateCount: false
UPDATE items SET name = :name WHERE id = :id;

-- name: deleteAll
-- usePreparedStatement: false
DELETE FROM items;

-- name: deleteInTransaction
-- createConnection: false
DELETE FROM items WHERE id = :id;

-- name: addItem
-- vendor: PostgreSQL
-- returning: single
-- parameters:
--   id: long
--   status: string
-- resultRowType: long
INSERT INTO items (id, status) VALUES (:id, :status) RETURNING id;

-- name: addItem
-- vendor: H2
SELECT id FROM FINAL TABLE (INSERT INTO items (status, id) VALUES (:status, :id));

-- name: addItems
-- vendor: PostgreSQL
-- returning: cursor
-- parameters: {id: long}
-- resultRowType: long
INSERT INTO items (id, status) VALUES (:id, 'OPEN'), (:id + 1, 'OPEN') RETURNING id;

-- name: addItems
-- vendor: H2
SELECT id FROM FINAL TABLE (INSERT INTO items (id, status) VALUES (:id, 'OPEN'), (:id + 1, 'OPEN'));

-- name: addMany
-- vendor: PostgreSQL
-- returning: multiple
-- parameters: {id: long}
-- resultRowType: test.model.Item
-- resultRowColumns:
--   address.city: city_name
INSERT INTO items (id, status) VALUES (:id, 'OPEN'), (:id + 1, 'OPEN') RETURNING *;

-- name: addMany
-- vendor: H2
SELECT * FROM FINAL TABLE (INSERT INTO items (id, status) VALUES (:id, 'OPEN'), (:id + 1, 'OPEN'));

-- name: addNothing
-- type: writing
-- returning: multiple
-- resultRowType: long
-- parameters: {id: long}
UPDATE items SET name = 'x' WHERE id = :id;

-- name: findProduct
-- returning: single
-- vendor: PostgreSQL
-- resultRowType: string
SELECT 'postgres';

-- name: findProduct
SELECT 'any' FROM (VALUES (0)) AS t (x);

-- name: findJoined
-- resultRowType: test.model.Item
-- resultRowColumns:
--   address.city: city_name
SELECT i.id, i.name, i.status, i.created, o.zip, o.city_name
  FROM items i
  LEFT JOIN items o ON o.id = i.id + 1000;
