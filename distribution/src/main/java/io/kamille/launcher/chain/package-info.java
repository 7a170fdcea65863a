/**
 * The stations of a route, in the order in which requests meet them: what each does with a request,
 * and what it would do with one and why.
 */
@NullMarked
package io.kamille.launcher.chain;

import org.jspecify.annotations.NullMarked;
