// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.servers;

import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;

/**
 * A new node of ZooKeeper that clients use as their root. The servers run until the JVM
 * ends.
 */
final class FreshRootNode {

	private static final Map<ServerKind, String> servers = new EnumMap<>(ServerKind.class);

	private static final AtomicInteger number = new AtomicInteger();

	private FreshRootNode() {
	}

	/**
	 * Create a node.
	 * @return the connect string with the node
	 */
	static synchronized String create(ServerKind kind) throws IOException {
		if (!servers.containsKey(kind)) {
			servers.put(kind, ServerWorker.start(kind));
		}
		String server = servers.get(kind);
		String node = "/benchmark" + number.incrementAndGet();
		try (CuratorFramework client = CuratorFrameworkFactory.newClient(server, new RetryOneTime(1000))) {
			client.start();
			client.create().forPath(node);
			return server + node;
		}
		catch (Exception ex) {
			throw new IOException(ex);
		}
	}

}
