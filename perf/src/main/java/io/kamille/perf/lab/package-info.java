/** The lab: the papers' experiments done again, one class each, with reports. */
@NullMarked
package io.kamille.perf.lab;

import org.jspecify.annotations.NullMarked;
