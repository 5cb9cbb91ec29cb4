/**
 * Generated from the OpenAPI document by "npm run generate". Do not edit: change the document and
 * run it again.
 */

import type { AroundOf, HandlersOf, ReplyOf, RequestOf, Verifiers } from 'spec-first-server';

/** An integer. A number if it is safe, a bigint beyond ±(2^53−1). */
export type Int64 = number | bigint;

/** @see openapi.yaml:39 */
export type StoredFile = {
    /** @format uuid */
    id: string;
    title: string;
    /**
     * @minimum 0
     * @maximum 1000000000
     */
    bytes: number;
};
export interface paths {
    "/files": {
        post: operations["uploadFile"];
    };
    "/files/{id}": {
        get: operations["downloadFile"];
        put: operations["replaceFile"];
    };
}
export interface components {
    schemas: {
        StoredFile: StoredFile;
    };
}
export interface operations {
    /** @see openapi.yaml:5 */
    uploadFile: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": {
                    /**
                     * @minLength 1
                     * @maxLength 100
                     */
                    title: string;
                    /** @format binary */
                    file: File;
                };
            };
        };
        responses: {
            /** The file is stored. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": StoredFile;
                };
            };
        };
    };
    /** @see openapi.yaml:23 */
    downloadFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @format uuid */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** The bytes of the file. */
            200: {
                headers: {
                    "Content-Disposition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": unknown;
                };
            };
            /** There is no such file. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    /** @see openapi.yaml:31 */
    replaceFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @format uuid */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": unknown;
            };
        };
        responses: {
            /** The bytes are replaced. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** There is no such file. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
export interface webhooks {}
/** The security schemes of each operation; undefined if it needs no credentials. */
export interface security {
    uploadFile: undefined;
    downloadFile: undefined;
    replaceFile: undefined;
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
