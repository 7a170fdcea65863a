/** Test support of every module: a run fails when a reference-counted thing was never released. */
@NullMarked
package io.kamille.core.leak;

import org.jspecify.annotations.NullMarked;
