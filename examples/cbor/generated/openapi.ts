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
/** @see openapi.yaml:21 */
export type Measurement<out V extends Sent = Received> = {
    /** @minLength 1 */
    sensor: string;
    /** @format int64 */
    nanoseconds: Int64;
    /** @maxItems 100 */
    values: MaybeReadonly<number[], V>;
    unit?: string;
};
/** @see openapi.yaml:29 */
export type Problem = {
    title: string;
    detail?: string;
};
export interface paths {
    "/measurements": {
        post: operations["addMeasurement"];
    };
}
export interface components {
    schemas: {
        Measurement: Measurement;
        Problem: Problem;
    };
}
export interface operations<V extends Sent = Received> {
    /** @see openapi.yaml:5 */
    addMeasurement: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/cbor": Measurement;
                "application/json": Measurement;
            };
        };
        responses: {
            /** The measurement is stored. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/cbor": Measurement<V>;
                };
            };
            /** The measurement is invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/cbor": Problem;
                };
            };
        };
    };
}
export interface webhooks {}
/** The security schemes of each operation; undefined if it needs no credentials. */
export interface security {
    addMeasurement: undefined;
}
/** Optional parameters with a default. The server fills it in. */
export interface defaults {
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
