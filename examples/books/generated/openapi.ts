/**
 * Generated from the OpenAPI document by "npm run generate". Do not edit: change the document and
 * run it again.
 */

import type { AroundOf, HandlersOf, ReplyOf, RequestOf, Verifiers } from 'spec-first-server';

/** An integer. A number if it is safe, a bigint beyond ±(2^53−1). */
export type Int64 = number | bigint;

/** The form of values in requests: dates are strings. */
export type Received = { date: string; list: never };
/** The form of values in replies: also dates as objects, and readonly lists. */
export type Sent = { date: string | DateLike; list: unknown };
/** A Date, a Temporal value, or another object that JSON writes as a string. */
export interface DateLike { toJSON(): string }
/** A list or tuple that may be readonly if it is sent. */
export type MaybeReadonly<T extends readonly unknown[], V extends Sent> =
    T | (Readonly<T> & V['list']);
/** @see openapi.yaml:45 */
export type NewBook = {
    /**
     * @minLength 1
     * @maxLength 200
     */
    title: string;
    /**
     * @minLength 1
     * @maxLength 200
     */
    author: string;
};
/** @see openapi.yaml:51 */
export type Book = {
    /**
     * @minLength 1
     * @maxLength 200
     */
    title: string;
    /**
     * @minLength 1
     * @maxLength 200
     */
    author: string;
    isbn: string;
};
export interface paths {
    "/books": {
        get: operations["listBooks"];
    };
    "/books/{isbn}": {
        get: operations["getBook"];
        put: operations["putBook"];
        delete: operations["deleteBook"];
    };
}
export interface components {
    schemas: {
        NewBook: NewBook;
        Book: Book;
    };
}
export interface operations<V extends Sent = Received> {
    /** @see openapi.yaml:5 */
    listBooks: {
        parameters: {
            query?: {
                /** The last ISBN of the previous page. */
                after?: string;
                /**
                 * @minimum 1
                 * @maximum 100
                 * @default 20
                 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** A page of books, in the order of their ISBNs. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Book[] | (readonly Book[] & V['list']);
                };
            };
        };
    };
    /** @see openapi.yaml:17 */
    getBook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @pattern ^[0-9]{13}$ */
                isbn: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** The book. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Book;
                };
            };
            /** There is no such book. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": {
                        title?: string;
                    };
                };
            };
        };
    };
    /** @see openapi.yaml:24 */
    putBook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @pattern ^[0-9]{13}$ */
                isbn: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": NewBook;
            };
        };
        responses: {
            /** The book is on disk. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Book;
                };
            };
        };
    };
    /** @see openapi.yaml:33 */
    deleteBook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @pattern ^[0-9]{13}$ */
                isbn: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** The book is deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** There is no such book. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": {
                        title?: string;
                    };
                };
            };
        };
    };
}
export interface webhooks {}
/** The security schemes of each operation; undefined if it needs no credentials. */
export interface security {
    listBooks: undefined;
    getBook: undefined;
    putBook: undefined;
    deleteBook: undefined;
}
/** Optional parameters with a default. The server fills it in. */
export interface defaults {
    listBooks: {
        query: "limit";
    };
}
interface contract {
    operations: operations<Sent>;
    security: security;
    defaults: defaults;
}
/**
 * A handler for each operation. Handlers<typeof verifiers> sets the type of callers, and
 * Handlers<typeof verifiers, { tx: Transaction }> a member of requests that `around` adds.
 */
export type Handlers<V extends Verifiers = {}, M extends object = {}> =
    HandlersOf<contract, V, M>;
/** Middleware around all handlers. It adds the members M to requests: next({ tx }). */
export type Around<V extends Verifiers = {}, M extends object = {}> = AroundOf<contract, V, M>;
/** The validated request that a handler gets. */
export type RequestTo<
    Id extends keyof operations,
    V extends Verifiers = {},
    M extends object = {},
> = RequestOf<contract, Id, V, M>;
/** The reply that a handler returns: one of the declared responses. */
export type ReplyTo<Id extends keyof operations> = ReplyOf<contract['operations'][Id]>;
