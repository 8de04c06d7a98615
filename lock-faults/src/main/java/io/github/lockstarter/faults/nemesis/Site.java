// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.faults.worker.ServerAddress;
import io.github.lockstarter.servers.Network;

/**
 * The servers that the workers use.
 */
public interface Site extends AutoCloseable {

	/**
	 * Return the address for one of the workers.
	 * @param worker number of the worker, from 0
	 */
	ServerAddress address(int worker);

	/**
	 * Return the networks between one of the workers and the servers.
	 * @param worker number of the worker, from 0
	 */
	default List<Network> networks(int worker) {
		return List.of();
	}

	/**
	 * Return what the servers keep of locks and of waiters.
	 */
	List<String> keys();

	/**
	 * Return the URL of the database that keeps the locks, past all networks, or
	 * {@code null} if none does.
	 */
	default @Nullable String database() {
		return null;
	}

	/**
	 * Return how many scripts were run. One that goes to several servers counts once.
	 */
	default long scripts() {
		return 0;
	}

	/**
	 * Return the channels with subscribers.
	 */
	default Stream<String> channels() {
		return Stream.empty();
	}

	/**
	 * End what a fault has left for good, when the workers have coped with it or not.
	 */
	default void settle() {
	}

	@Override
	void close();

}
