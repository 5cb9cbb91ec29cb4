import type { Handlers, Int64 } from '../generated/openapi.ts';
import type { Database } from './database.ts';
import { Conflict, notFound } from './errors.ts';
import { centsOf, euros } from './money.ts';
import { keyIn, pageOf } from './pages.ts';

type ProductOperations = 'listProducts' | 'createProduct' | 'getProduct';

const productOf = <Row extends { readonly cents: number; readonly tags: string }>(row: Row) => ({
  ...row,
  price: euros(row.cents),
  tags: JSON.parse(row.tags) as string[],
});

/**
 * Adds pieces to the stock of a product, or takes a negative number of pieces from it.
 *
 * @returns the price of one piece in cents.
 * @throws {Conflict} if there are too few pieces.
 */
export async function changeStock(
  transaction: Database,
  productId: Int64,
  pieces: number,
): Promise<number> {
  const product = await transaction
    .updateTable('products')
    .set((expression) => ({ stock: expression('stock', '+', pieces) }))
    .where('id', '=', productId)
    .where('stock', '>=', -pieces)
    .returning('cents')
    .executeTakeFirst();
  if (product === undefined) {
    throw new Conflict('out-of-stock', `product ${productId} has a stock of less than ${-pieces}`);
  }
  return product.cents;
}

export const productHandlers = (database: Database): Pick<Handlers, ProductOperations> => ({
  async listProducts({ query: { tags = [], price = {}, cursor, limit } }) {
    let query = database.selectFrom('products').selectAll().orderBy('id');
    if (price.min !== undefined) query = query.where('cents', '>=', centsOf(price.min));
    if (price.max !== undefined) query = query.where('cents', '<=', centsOf(price.max));
    if (cursor !== undefined) query = query.where('id', '>', keyIn(cursor));
    for (const tag of tags) {
      query = query.where('id', 'in', (subquery) =>
        subquery.selectFrom('productTags').select('productId').where('tag', '=', tag),
      );
    }
    const rows = await query.limit(limit + 1).execute();
    const { items, next } = pageOf(rows, limit, ({ id }) => id);
    return { status: 200, body: { items: items.map(productOf), next } };
  },

  async createProduct({ body: { id, name, price, stock, tags = [] } }) {
    const row = await database.transaction().execute(async (transaction) => {
      const product = await transaction
        .insertInto('products')
        .values({ id, name, cents: centsOf(price), stock, tags: JSON.stringify(tags) })
        .onConflict((conflict) => conflict.doNothing())
        .returningAll()
        .executeTakeFirst();
      if (product === undefined) {
        throw new Conflict('product-exists', 'another product has this id');
      }
      const tagRows = tags.map((tag) => ({ productId: id, tag }));
      if (tagRows.length > 0) await transaction.insertInto('productTags').values(tagRows).execute();
      return product;
    });
    return { status: 201, headers: { Location: `/v1/products/${id}` }, body: productOf(row) };
  },

  async getProduct({ path: { productId } }) {
    const row = await database
      .selectFrom('products')
      .selectAll()
      .where('id', '=', productId)
      .executeTakeFirst();
    if (row === undefined) throw notFound('product');
    return { status: 200, body: productOf(row) };
  },
});
