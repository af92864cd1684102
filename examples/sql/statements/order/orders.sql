-- name: insertOrder
-- returning: single
-- parameters:
--   userId: long
-- resultRowType: long
INSERT INTO orders (user_id) VALUES (:userId) RETURNING id;

-- name: insertOrderLine
-- parameters:
--   orderId: long
--   productId: uuid
--   quantity: int
-- executeOnce: false
-- executeBatch: true
INSERT INTO order_lines (order_id, product_id, quantity)
VALUES (:orderId, :productId, :quantity);

-- name: findOrdersOfUser
-- parameters:
--   userId: long
-- resultRowConverter:
--   alias: orderConverter
--   converterType: com.example.shop.OrderConverter
--   methodName: asOrder
--   resultType: com.example.shop.Order
SELECT o.id, o.status, o.placed_at
  FROM orders o
 WHERE o.user_id = :userId;

-- name: callCloseOrder
-- parameters:
--   - name: id
--     type: long
--   - name: closed
--     type: boolean
--     variant: OUT
--     sqlType: BOOLEAN
CALL close_order(:id, :closed);
