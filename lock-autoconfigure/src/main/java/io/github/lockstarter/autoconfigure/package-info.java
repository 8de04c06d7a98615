// SPDX-License-Identifier: Apache-2.0

/**
 * Configures the locks of an application from its properties and beans.
 */
@NullMarked
package io.github.lockstarter.autoconfigure;

import org.jspecify.annotations.NullMarked;
