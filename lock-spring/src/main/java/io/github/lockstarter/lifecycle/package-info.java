// SPDX-License-Identifier: Apache-2.0

/**
 * What a registry does when its application context starts and stops.
 */
@NullMarked
package io.github.lockstarter.lifecycle;

import org.jspecify.annotations.NullMarked;
