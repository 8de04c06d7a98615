// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import org.apache.curator.framework.CuratorFramework;

import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.testsupport.LockedSteps;

/**
 * An instance of an application whose threads read a plain counter in a file and write it
 * back, which loses updates unless a lock is held.
 */
final class CounterWorker {

	private CounterWorker() {
	}

	/**
	 * Run the worker.
	 * @param args the members of the ensemble, file of the counter, number of threads,
	 * increments of each thread, whether to lock
	 */
	public static void main(String[] args) throws Exception {
		Path counter = Path.of(args[1]);
		int threads = Integer.parseInt(args[2]);
		int increments = Integer.parseInt(args[3]);
		boolean locking = Boolean.parseBoolean(args[4]);
		CuratorFramework client = TestServers.connected(args[0], TestServers.PATIENT);
		ZooKeeperLockStore store = TestServers.store(client);
		DefaultLockRegistry registry = new DefaultLockRegistry(store, TestServers.ENGINE, LockListener.NO_OP);
		LockedSteps.run(locking ? registry : null, threads, increments, () -> increment(counter));
		registry.close();
		store.close();
		client.close();
	}

	static int read(Path counter) throws IOException {
		return Integer.parseInt(Files.readString(counter));
	}

	private static void increment(Path counter) throws IOException {
		int value = read(counter);
		Thread.yield();
		// A shorter text would leave the end of a longer one
		Files.writeString(counter, String.format("%08d", value + 1), StandardOpenOption.WRITE);
	}

}
