/**
 * Generated from the OpenAPI document by "npm run generate". Do not edit: change the document and run it again.
 */

import type { HandlersOf, ReplyOf, RequestOf } from 'spec-first-server';

/** An integer. A number if it is safe, a bigint beyond ±(2^53−1). */
export type Int64 = number | bigint;

export interface components {
    schemas: {
        NewNote: {
            text: string;
            tag?: string;
        };
        Note: components["schemas"]["NewNote"] & {
            /** Format: int64 */
            id: Int64;
            /** Format: date-time */
            createdAt: string;
        };
    };
}
export interface operations {
    listNotes: {
        parameters: {
            query?: {
                tag?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The latest notes. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Note"][];
                };
            };
        };
    };
    addNote: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewNote"];
            };
        };
        responses: {
            /** @description The note is kept. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Note"];
                };
            };
        };
    };
}
export interface webhooks {
}
export type NewNote = components["schemas"]["NewNote"];
export type Note = components["schemas"]["Note"];
/** Whether an operation needs credentials. */
export interface security {
    listNotes: "none";
    addNote: "none";
}
/** Optional parameters that are always present, because they have a default. */
export interface defaults {
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
