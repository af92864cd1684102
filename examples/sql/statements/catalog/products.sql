/*
 * Comments like this one may stand anywhere.
 */

-- name: findProducts
-- resultRowType: com.example.shop.Product
SELECT id, name, price, stock FROM products ORDER BY name;

-- name: findAffordableProducts
-- parameters:
--   - name: limit
--     type: bigdecimal
--     sqlType: NUMERIC
--     scale: 2
-- resultRowType: com.example.shop.Product
SELECT id, name, price, stock FROM products WHERE price <= :limit;

-- name: mergeProduct
-- parameters:
--   id: uuid
--   name: string
--   price: bigdecimal
-- executeBatch: true
-- vendor: PostgreSQL
INSERT INTO products (id, name, price)
VALUES (:id, :name, :price)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, price = excluded.price;

-- name: mergeProduct
-- vendor: H2
MERGE INTO products (id, name, price) KEY (id)
VALUES (:id, :name, :price);
