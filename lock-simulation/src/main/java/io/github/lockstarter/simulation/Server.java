// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.simulation;

import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.redis.SimulatedRedis;
import io.github.lockstarter.store.LockStore;

/**
 * The server of a world.
 */
interface Server {

	/**
	 * Return the store of an instance.
	 */
	LockStore connect(SimulatedTime time, Network network);

	/**
	 * Notice that an instance is gone.
	 */
	void close(Network network);

	/**
	 * Lose all data.
	 */
	void forget();

	/**
	 * Return whether somebody has a lock.
	 */
	boolean isTaken(LockKey key);

	/**
	 * Return what stays for ever although nobody has a lock, also because of faults.
	 */
	List<String> leftovers();

	/**
	 * Return a server that keeps locks as the memory of a JVM does.
	 */
	static Server memory(Simulation simulation, SimulatedRedis.Grants grants) {
		LockMemory memory = new LockMemory(simulation::now);
		MemoryLockStore own = new MemoryLockStore(memory);
		return new Server() {

			@Override
			public LockStore connect(SimulatedTime time, Network network) {
				return new SimulatedStore(new MemoryLockStore(memory), network,
						(request, grant) -> grants.granted(request.key(), request.owner(), grant.fencingBase()));
			}

			@Override
			public void close(Network network) {
				// It never notices
			}

			@Override
			public void forget() {
				memory.clear();
			}

			@Override
			public boolean isTaken(LockKey key) {
				return !own.inspection().orElseThrow().inspect(key).toCompletableFuture().join().holders().isEmpty();
			}

			@Override
			public List<String> leftovers() {
				return memory.isEmpty() ? List.of() : List.of("a waiter");
			}

		};
	}

	/**
	 * Return a server that runs the scripts of Redis.
	 */
	static Server redis(Simulation simulation, SimulatedRedis.Grants grants) {
		long begin = TimeUnit.DAYS.toMicros(20_454);
		SimulatedRedis redis = new SimulatedRedis(() -> begin + simulation.now() / 1000, grants);
		return new Server() {

			@Override
			public LockStore connect(SimulatedTime time, Network network) {
				return redis.connect(network, time);
			}

			@Override
			public void close(Network network) {
				redis.close(network);
			}

			@Override
			public void forget() {
				redis.flush();
			}

			@Override
			public boolean isTaken(LockKey key) {
				return redis.isTaken(key);
			}

			@Override
			public List<String> leftovers() {
				return redis.keysWithoutEnd();
			}

		};
	}

}
