/** The resources of the control plane, one class each, and what all of them share. No I/O. */
@NullMarked
package io.kamille.admin.api;

import org.jspecify.annotations.NullMarked;
