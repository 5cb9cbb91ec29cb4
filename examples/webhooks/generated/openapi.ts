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
/** @see openapi.yaml:56 */
export type NewParcel = {
    /**
     * @minLength 1
     * @maxLength 100
     */
    content: string;
    /**
     * @format uri
     * @maxLength 500
     * @pattern ^https?://
     */
    callbackUrl?: string;
};
/** @see openapi.yaml:62 */
export type Parcel = {
    /** @format uuid */
    id: string;
    /**
     * @minLength 1
     * @maxLength 100
     */
    content: string;
    isDelivered: boolean;
};
export interface paths {
    "/parcels": {
        post: operations["createParcel"];
    };
    "/parcels/{parcelId}/delivery": {
        put: operations["deliverParcel"];
    };
}
export interface components {
    schemas: {
        NewParcel: NewParcel;
        Parcel: Parcel;
    };
}
export interface operations {
    /**
     * Create a parcel, and name a URL that is told when it is delivered.
     * @see openapi.yaml:6
     */
    createParcel: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": NewParcel;
            };
        };
        responses: {
            /** The parcel is on its way. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Parcel;
                };
            };
            /** Callbacks are not sent to the host of this URL. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": unknown;
                };
            };
        };
    };
    /**
     * Record that a parcel was delivered.
     * @see openapi.yaml:32
     */
    deliverParcel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @format uuid */
                parcelId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** The parcel is delivered, also if it was before. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Parcel;
                };
            };
            /** There is no such parcel. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": unknown;
                };
            };
        };
    };
}
export interface webhooks {
    parcelDelivered: {
        /** Any parcel was delivered. Sent to the URL that the operator has configured. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": Parcel;
                };
            };
            responses: {
                /** Received. */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
    };
    "createParcel.delivered": {
        /** The parcel of this request was delivered. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": Parcel;
                };
            };
            responses: {
                /** Received. */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
    };
}
/** The security schemes of each operation; undefined if it needs no credentials. */
export interface security {
    createParcel: "token";
    deliverParcel: "token";
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
