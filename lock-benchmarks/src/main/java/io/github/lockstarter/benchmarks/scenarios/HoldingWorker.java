// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.scenarios;

import io.github.lockstarter.benchmarks.locks.Competitors;
import io.github.lockstarter.benchmarks.locks.LockClient;
import io.github.lockstarter.benchmarks.servers.ServerAddress;

/**
 * A JVM that acquires a lock and holds it until it is killed.
 */
final class HoldingWorker {

	private HoldingWorker() {
	}

	public static void main(String[] args) throws Exception {
		LockClient client = Competitors.named(args[0]).connect(ServerAddress.parse(args[1]), Long.parseLong(args[2]));
		client.lock("hot");
		System.out.println("held");
		Thread.currentThread().join();
	}

}
