/**
 * Generated from the OpenAPI document by "npm run generate". Do not edit: change the document and
 * run it again.
 */

import type { AroundOf, HandlersOf, ReplyOf, RequestOf, Verifiers } from 'spec-first-server';

/** An integer. A number if it is safe, a bigint beyond ±(2^53−1). */
export type Int64 = number | bigint;

/** @see openapi.yaml:38 */
export type NewMessage = {
    /** @maxLength 500 */
    text: string;
};
/** @see openapi.yaml:42 */
export type Message = {
    /** @maxLength 500 */
    text: string;
    id: number;
};
export interface paths {
    "/messages": {
        get: operations["watchMessages"];
        post: operations["postMessage"];
    };
}
export interface components {
    schemas: {
        NewMessage: NewMessage;
        Message: Message;
    };
}
export interface operations {
    /**
     * Get the messages after Last-Event-ID, then each new one
     * @see openapi.yaml:17
     */
    watchMessages: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @minimum 0
                 * @default 0
                 */
                "Last-Event-ID"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** The messages, in order. The stream has no end. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": AsyncIterable<{
                        /** @pattern ^[0-9]+$ */
                        id: string;
                        data: Message;
                    }>;
                };
            };
        };
    };
    /**
     * Send a message to all watching clients
     * @see openapi.yaml:5
     */
    postMessage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": NewMessage;
            };
        };
        responses: {
            /** The message was sent. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Message;
                };
            };
        };
    };
}
export interface webhooks {}
/** The security schemes of each operation; undefined if it needs no credentials. */
export interface security {
    watchMessages: undefined;
    postMessage: undefined;
}
/** Optional parameters with a default. The server fills it in. */
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
