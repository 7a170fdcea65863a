/** What the control plane sees of the appliance: one interface, and copies of numbers. */
@NullMarked
package io.kamille.admin.view;

import org.jspecify.annotations.NullMarked;
