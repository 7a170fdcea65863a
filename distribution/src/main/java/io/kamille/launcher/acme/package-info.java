/**
 * Certificates that are ordered from an authority (ACME, RFC 8555): when, which, and where kept.
 */
@NullMarked
package io.kamille.launcher.acme;

import org.jspecify.annotations.NullMarked;
