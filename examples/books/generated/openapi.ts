/**
 * Generated from the OpenAPI document by "npm run generate". Do not edit: change the document and run it again.
 */

import type { HandlersOf, ReplyOf, RequestOf } from 'spec-first-server';

/** An integer. A number if it is safe, a bigint beyond ±(2^53−1). */
export type Int64 = number | bigint;

export interface components {
    schemas: {
        NewBook: {
            title: string;
            author: string;
        };
        Book: components["schemas"]["NewBook"] & {
            isbn: string;
        };
    };
}
export interface operations {
    listBooks: {
        parameters: {
            query?: {
                /** @description The ISBN that the page begins after. */
                after?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of books, in the order of their ISBNs. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Book"][];
                };
            };
        };
    };
    getBook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                isbn: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The book. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Book"];
                };
            };
            /** @description There is no such book. */
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
    putBook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                isbn: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewBook"];
            };
        };
        responses: {
            /** @description The book is on disk. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Book"];
                };
            };
        };
    };
    deleteBook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                isbn: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The book is deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description There is no such book. */
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
export interface webhooks {
}
export type NewBook = components["schemas"]["NewBook"];
export type Book = components["schemas"]["Book"];
/** Whether an operation needs credentials. */
export interface security {
    listBooks: "none";
    getBook: "none";
    putBook: "none";
    deleteBook: "none";
}
/** Optional parameters that are always present, because they have a default. */
export interface defaults {
    listBooks: {
        query: "limit";
    };
}
interface contract {
    operations: operations;
    security: security;
    defaults: defaults;
}
/** A handler for each operation. */
export type Handlers = HandlersOf<contract>;
/** The validated request that a handler gets. */
export type RequestTo<Id extends keyof operations> = RequestOf<contract, Id>;
/** The reply that a handler returns: one of the declared responses. */
export type ReplyTo<Id extends keyof operations> = ReplyOf<operations[Id]>;
