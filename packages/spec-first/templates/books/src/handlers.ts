import { openDatabase, Unusable } from 'group-commit/sqlite';
import { type Backend, ConfigError, HttpError, type OpenContext, type ValuesOf } from 'spec-first-server';
import type { Handlers, ReplyTo, RequestTo } from '../generated/openapi.ts';

/** The environment variables of this service, beside those of the server. */
export const variables = {
  DATABASE_FILE: { default: 'data/books.db', description: 'the SQLite file that keeps the books', parse: String },
};

/** Opens the database and returns a handler for each operation. */
export async function openLibrary(
  { DATABASE_FILE: file }: ValuesOf<typeof variables>,
  { onBatch }: OpenContext,
): Promise<Backend> {
  const module = new URL('./books.ts', import.meta.url);
  const opening = openDatabase<typeof import('./books.ts').default>({ file, module, onBatch });
  const database = await opening.catch((error: unknown) => {
    throw error instanceof Unusable ? new ConfigError(`DATABASE_FILE: ${error.message}`, { cause: error }) : error;
  });

  const handlers: Handlers = {
    async listBooks({ query: { after = '', limit } }: RequestTo<'listBooks'>): Promise<ReplyTo<'listBooks'>> {
      // One book more than the page shows whether there is a next page.
      const found = await database.list(after, limit + 1);
      const books = found.slice(0, limit);
      const last = books.at(-1);
      return { status: 200, body: found.length > limit && last ? { books, next: last.isbn } : { books } };
    },

    async addBook({ body }: RequestTo<'addBook'>): Promise<ReplyTo<'addBook'>> {
      if (await database.add(body)) return { status: 201, body };
      throw new HttpError(409, `ISBN ${body.isbn} is taken`, { reason: 'the ISBN is taken' });
    },

    async getBook({ path: { isbn } }: RequestTo<'getBook'>): Promise<ReplyTo<'getBook'>> {
      const book = await database.get(isbn);
      if (book === undefined) throw notFound(isbn);
      return { status: 200, body: book };
    },

    async deleteBook({ path: { isbn } }: RequestTo<'deleteBook'>): Promise<ReplyTo<'deleteBook'>> {
      if (!(await database.remove(isbn))) throw notFound(isbn);
      return { status: 204 };
    },
  };

  const { location, ready, waiting, close } = database;
  return { handlers, location, ready, waiting, close };
}

/** The reason is for the log, which does not repeat what clients send. */
const notFound = (isbn: string) =>
  new HttpError(404, `There is no book with ISBN ${isbn}`, { reason: 'there is no such book' });
