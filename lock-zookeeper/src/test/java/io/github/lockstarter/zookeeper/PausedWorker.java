// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.time.Duration;

import org.apache.curator.framework.CuratorFramework;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.event.LockListener;

/**
 * An instance of an application that holds a lock until it is lost, and then acquires it
 * again.
 */
final class PausedWorker {

	private PausedWorker() {
	}

	/**
	 * Run the worker. It prints its process id, and a fencing token for each lease, with
	 * the time at which the first one was last held.
	 * @param args the members of the ensemble
	 */
	public static void main(String[] args) throws Exception {
		CuratorFramework client = TestServers.connected(args[0]);
		DefaultLockRegistry registry = new DefaultLockRegistry(TestServers.store(client), TestServers.ENGINE,
				LockListener.NO_OP);
		LockRequest request = LockRequest.of("paused").withWaitTime(Duration.ofMinutes(1));
		long lastHeld = System.nanoTime();
		try (Lease lease = registry.acquire(request)) {
			System.out.println(ProcessHandle.current().pid());
			System.out.println(lease.fencingToken());
			for (long now = lastHeld; lease.isHeld(); now = System.nanoTime()) {
				lastHeld = now;
			}
		}
		catch (LockLostException ex) {
			// All processes of a machine have the same monotonic clock
			System.out.println(lastHeld);
		}
		System.out.println(registry.acquire(request).fencingToken());
		System.in.read();
	}

}
