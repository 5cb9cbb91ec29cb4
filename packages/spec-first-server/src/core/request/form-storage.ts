import { randomUUID } from 'node:crypto';
import { createWriteStream, openAsBlob } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { FormStorage } from 'openapi-document';
import { type Account, estimatedSize } from '../account.ts';
import type { Bytes } from '../call.ts';
import { HttpError } from '../response/http-error.ts';
import { isRejection, readBytes } from './streams.ts';
import { createUploadFolder } from './upload-folders.ts';

/**
 * The size in bytes of a body above which its files are written to disk. The files of a body of
 * unknown length are always written to disk.
 */
const MAX_IN_MEMORY = 65_536;

/** The memory of a part besides its bytes. */
const PART_BYTES = 1024;

/**
 * Returns the place where a form keeps its parts: texts and small files in memory, large files on
 * disk. All bytes of the form are charged to its account, until files are on disk.
 *
 * @param length the declared length of the form, in bytes.
 * @param textLimit the maximum number of bytes of all texts.
 * @param account removes the files on disk when it is settled.
 */
export function formStorage(
  length: number,
  textLimit: number,
  account: Account,
): FormStorage & { charged(chunks: AsyncIterable<Bytes>): AsyncGenerator<Bytes> } {
  let folder: string | undefined;
  let textSize = 0;

  const storage: FormStorage = {
    budget: account,
    run: (work) => account.turns.run(account, work),

    async readText(content, parse) {
      account.charge(PART_BYTES);
      const bytes = await readBytes(limitTexts(content), textLimit);
      return account.turns.run(account, () => {
        // The values replace the text.
        account.charge(estimatedSize(bytes) - bytes.length);
        return parse(bytes);
      });
    },

    async readFile(content, name, type) {
      account.charge(PART_BYTES);
      if (length <= MAX_IN_MEMORY) {
        const small = await readBytes(content, MAX_IN_MEMORY);
        return new File([Uint8Array.from(small)], name, { type });
      }
      try {
        folder ??= createUploadFolder(account);
        const path = join(folder, randomUUID());
        const output = createWriteStream(path, { flags: 'wx', mode: 0o600 });
        await pipeline(content, refunded, output);
        return new File([await openAsBlob(path)], name, { type });
      } catch (error) {
        throw isRejection(error) ? error : notStored(error);
      }
    },
  };
  return { ...storage, charged };

  async function* charged(chunks: AsyncIterable<Bytes>): AsyncGenerator<Bytes> {
    for await (const chunk of chunks) {
      account.charge(chunk.length);
      yield chunk;
    }
  }

  async function* limitTexts(chunks: AsyncIterable<Bytes>): AsyncGenerator<Bytes> {
    for await (const chunk of chunks) {
      textSize += chunk.length;
      if (textSize > textLimit) {
        const limit = `at most ${textLimit} bytes`;
        throw new HttpError(413, `the texts of the body must be ${limit}: send a file instead`, {
          reason: `the texts of the body must be ${limit} (BODY_LIMIT)`,
        });
      }
      yield chunk;
    }
  }

  /** Refunds each chunk when the next one is requested. */
  async function* refunded(chunks: AsyncIterable<Bytes>): AsyncGenerator<Bytes> {
    for await (const chunk of chunks) {
      yield chunk;
      account.charge(-chunk.length);
    }
  }
}

/** @param cause the error of the file system: no space is left, or too many files are open. */
const notStored = (cause: unknown): HttpError =>
  new HttpError(503, 'files cannot be stored now: try again later', {
    headers: { 'Retry-After': 1 },
    cause,
  });
