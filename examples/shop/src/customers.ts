import { randomBytes, scrypt } from 'node:crypto';
import { type Caller, Forbidden, HttpError } from 'spec-first-server';
import type { Handlers } from '../generated/openapi.ts';
import { type Database, isDuplicate } from './database.ts';
import { Conflict, notFound } from './errors.ts';

type CustomerOperations = 'createCustomer' | 'getCustomer' | 'updateCustomer' | 'deleteCustomer';

/** Returns the id of the calling customer. @throws {Forbidden} */
export function customerOf(caller: Caller | undefined): string {
  const subject = caller?.subject ?? '';
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(subject))
    throw new Forbidden('the token names no customer');
  return subject;
}

const etag = (version: number): string => `"${version}"`;

/** Hashes a password in the thread pool, so that other requests do not wait. */
function hash(password: string): Promise<string> {
  const salt = randomBytes(16);
  return new Promise((resolve, reject) =>
    scrypt(password, salt, 32, (error, key) => {
      if (error) reject(error);
      else resolve(`${salt.toString('hex')}:${key.toString('hex')}`);
    }),
  );
}

const emailTaken = () => new Conflict('email-taken', 'another customer has this address');

export const customerHandlers = (database: Database): Pick<Handlers, CustomerOperations> => ({
  async createCustomer({ caller, body: { email, name, birthday = null, password } }) {
    const row = await database
      .insertInto('customers')
      .values({
        id: customerOf(caller),
        email,
        name,
        birthday,
        passwordHash: await hash(password),
        createdAt: new Date().toISOString(),
      })
      .onConflict((conflict) => conflict.doNothing())
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) {
      const message = 'the customer exists already, or another customer has this address';
      throw new Conflict('customer-exists', message);
    }
    const headers = { ETag: etag(row.version), Location: `/v1/customers/${row.id}` };
    return { status: 201, headers, body: row };
  },

  async getCustomer({ path: { customerId } }) {
    const row = await database
      .selectFrom('customers')
      .selectAll()
      .where('id', '=', customerId)
      .executeTakeFirst();
    if (row === undefined) throw notFound('customer');
    return { status: 200, headers: { ETag: etag(row.version) }, body: row };
  },

  async updateCustomer({ path: { customerId }, header, body }) {
    const row = await database
      .updateTable('customers')
      .set((expression) => ({ ...body, version: expression('version', '+', 1) }))
      .where('id', '=', customerId)
      .where('version', '=', Number(header['If-Match'].slice(1, -1)))
      .returningAll()
      .executeTakeFirst()
      .catch((error: unknown) => {
        throw isDuplicate(error) ? emailTaken() : error;
      });
    if (row !== undefined) {
      return { status: 200, headers: { ETag: etag(row.version) }, body: row };
    }
    const current = await database
      .selectFrom('customers')
      .select('version')
      .where('id', '=', customerId)
      .executeTakeFirst();
    if (current === undefined) throw notFound('customer');
    throw new HttpError(412, `the customer has changed: its ETag is ${etag(current.version)}`);
  },

  async deleteCustomer({ path: { customerId } }) {
    const { numDeletedRows } = await database
      .deleteFrom('customers')
      .where('id', '=', customerId)
      .executeTakeFirstOrThrow();
    if (numDeletedRows === 0n) throw notFound('customer');
    return { status: 204 };
  },
});
