/**
 * The entrance of the bundled server, which is one file for both places it runs in: what only one of them has is loaded
 * only there.
 */
const scope = globalThis as { readonly process?: { readonly versions?: { readonly node?: string } } };

if (scope.process?.versions?.node === undefined) void import("./worker");
else void import("./main");

export {};
