import type { AnyRequest } from 'spec-first-server';
import type { Handlers, RequestTo } from '../generated/openapi.ts';
import { customerOf } from './customers.ts';
import type { Database } from './database.ts';
import { notFound } from './errors.ts';

/** The names of all path parameters. */
type IdName = { [Id in keyof Handlers]: keyof RequestTo<Id>['path'] }[keyof Handlers];

/** Resolves to the owner of what an id names, or to `undefined` if it names nothing. */
type FindOwner = (id: string) => Promise<{ readonly customerId: string } | undefined>;

/**
 * Returns a check that runs before each handler, so that no operation can lack it: what belongs to
 * another customer gets 404, like what does not exist.
 */
export function ownerCheck(database: Database): (request: AnyRequest) => Promise<void> {
  const owners: Readonly<Record<string, FindOwner | undefined>> = {
    customerId: async (customerId) => ({ customerId }),
    orderId: (id) =>
      database.selectFrom('orders').select('customerId').where('id', '=', id).executeTakeFirst(),
    documentId: (id) =>
      database
        .selectFrom('documents')
        .innerJoin('orders', 'orders.id', 'documents.orderId')
        .select('customerId')
        .where('documents.id', '=', id)
        .executeTakeFirst(),
    // Products and reports belong to the shop: their operations are public, or need a scope.
    productId: undefined,
    reportId: undefined,
    // Each new path parameter needs an entry.
  } satisfies Record<IdName, FindOwner | undefined>;

  return async ({ caller, path }) => {
    for (const [name, id] of Object.entries(path)) {
      const findOwner = owners[name];
      if (findOwner === undefined) continue;
      const owner = await findOwner(String(id));
      if (owner?.customerId !== customerOf(caller)) throw notFound(name.replace(/Id$/, ''));
    }
  };
}
