/**
 * Stored responses that must not be used any more: purged by operators, invalidated by protocol.
 */
@NullMarked
package io.kamille.cache.removal;

import org.jspecify.annotations.NullMarked;
