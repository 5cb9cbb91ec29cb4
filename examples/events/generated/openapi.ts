/**
 * Generated from the OpenAPI document by "npm run generate". Do not edit: change the document and run it again.
 */

import type { HandlersOf, ReplyOf, RequestOf } from 'spec-first-server';

/** An integer. A number if it is safe, a bigint beyond ±(2^53−1). */
export type Int64 = number | bigint;

export interface components {
    schemas: {
        NewMessage: {
            text: string;
        };
        Message: components["schemas"]["NewMessage"] & {
            id: number;
        };
    };
}
export interface operations {
    /** Get messages as they come, also those after the last one that was seen */
    watchMessages: {
        parameters: {
            query?: never;
            header?: {
                "Last-Event-ID"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The messages, in order. The stream has no end. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": AsyncIterable<{
                        id: string;
                        data: components["schemas"]["Message"];
                    }>;
                };
            };
        };
    };
    /** Send a message to all */
    postMessage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewMessage"];
            };
        };
        responses: {
            /** @description The message was sent. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
        };
    };
}
export interface webhooks {
}
export type NewMessage = components["schemas"]["NewMessage"];
export type Message = components["schemas"]["Message"];
/** Whether an operation needs credentials. */
export interface security {
    watchMessages: "none";
    postMessage: "none";
}
/** Optional parameters that are always present, because they have a default. */
export interface defaults {
    watchMessages: {
        header: "Last-Event-ID";
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
