// SPDX-License-Identifier: Apache-2.0

/**
 * Real servers on the loopback address.
 * {@link io.github.lockstarter.servers.SharedServers} has those that all JVMs of a build
 * share; who harms a server starts one of its own.
 */
@NullMarked
package io.github.lockstarter.servers;

import org.jspecify.annotations.NullMarked;
