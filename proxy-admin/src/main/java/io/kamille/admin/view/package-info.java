/** What the control plane sees of the appliance: one interface, and the figures that it tells. */
@NullMarked
package io.kamille.admin.view;

import org.jspecify.annotations.NullMarked;
