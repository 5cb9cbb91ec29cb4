/**
 * Generated from the OpenAPI document by "npm run generate". Do not edit: change the document and run it again.
 */

import type { HandlersOf, ReplyOf, RequestOf } from 'spec-first-server';

/** An integer. A number if it is safe, a bigint beyond ±(2^53−1). */
export type Int64 = number | bigint;

export interface components {
    schemas: {};
}
export interface operations {
    /** Greet somebody */
    sayHello: {
        parameters: {
            query?: {
                times?: number;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A greeting. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        text: string;
                    };
                };
            };
        };
    };
}
export interface webhooks {
}
/** Whether an operation needs credentials. */
export interface security {
    sayHello: "none";
}
/** Optional parameters that are always present, because they have a default. */
export interface defaults {
    sayHello: {
        query: "times";
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
