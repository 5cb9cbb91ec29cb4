/**
 * Generated from the OpenAPI document by "npm run generate". Do not edit: change the document and
 * run it again.
 */

import type { AroundOf, HandlersOf, ReplyOf, RequestOf, Verifiers } from 'spec-first-server';

/** An integer. A number if it is safe, a bigint beyond ±(2^53−1). */
export type Int64 = number | bigint;

/**
 * @pattern ^[a-z]{1,20}$
 * @see openapi.yaml:55
 */
export type Name = string;
/**
 * @minimum 0
 * @maximum 1000000000
 * @see openapi.yaml:56
 */
export type Amount = number;
export interface paths {
    "/accounts/{name}": {
        get: operations["getAccount"];
        put: operations["putAccount"];
    };
    "/transfers": {
        post: operations["transfer"];
    };
}
export interface components {
    schemas: {
        Name: Name;
        Amount: Amount;
    };
}
export interface operations {
    /** @see openapi.yaml:6 */
    getAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @pattern ^[a-z]{1,20}$ */
                name: Name;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** The account. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @pattern ^[a-z]{1,20}$ */
                        name: Name;
                        /**
                         * @minimum 0
                         * @maximum 1000000000
                         */
                        balance: Amount;
                    };
                };
            };
            /** Nothing is changed. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": {
                        detail?: string;
                    };
                };
            };
        };
    };
    /** @see openapi.yaml:11 */
    putAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @pattern ^[a-z]{1,20}$ */
                name: Name;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @minimum 0
                     * @maximum 1000000000
                     */
                    balance: Amount;
                };
            };
        };
        responses: {
            /** The account. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @pattern ^[a-z]{1,20}$ */
                        name: Name;
                        /**
                         * @minimum 0
                         * @maximum 1000000000
                         */
                        balance: Amount;
                    };
                };
            };
        };
    };
    /** @see openapi.yaml:21 */
    transfer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @pattern ^[a-z]{1,20}$ */
                    from: Name;
                    /** @pattern ^[a-z]{1,20}$ */
                    to: Name;
                    /**
                     * @minimum 0
                     * @maximum 1000000000
                     */
                    amount: Amount;
                };
            };
        };
        responses: {
            /** The amount is transferred. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** Nothing is changed. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": {
                        detail?: string;
                    };
                };
            };
            /** Nothing is changed. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": {
                        detail?: string;
                    };
                };
            };
        };
    };
}
export interface webhooks {}
/** The security schemes of each operation; undefined if it needs no credentials. */
export interface security {
    getAccount: undefined;
    putAccount: undefined;
    transfer: undefined;
}
/** Optional parameters with a default. The server fills it in. */
export interface defaults {
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
