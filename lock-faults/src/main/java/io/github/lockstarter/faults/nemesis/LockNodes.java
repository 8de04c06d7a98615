// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.util.List;
import java.util.stream.Stream;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.retry.RetryNTimes;
import org.apache.zookeeper.KeeperException.NoNodeException;

/**
 * The nodes of holders and waiters in ZooKeeper, as an operator sees them.
 */
final class LockNodes implements AutoCloseable {

	private static final List<String> ROOTS = List.of("/distributed-locks", "/mutexes");

	private final CuratorFramework client;

	LockNodes(String connectString) {
		this.client = CuratorFrameworkFactory.newClient(connectString, 10_000, 10_000, new RetryNTimes(20, 500));
	}

	/**
	 * Return the paths of all nodes.
	 */
	List<String> list() {
		return ROOTS.stream().flatMap(this::children).flatMap(this::children).toList();
	}

	void delete() {
		list().forEach(this::delete);
	}

	private Stream<String> children(String path) {
		try {
			return connected().getChildren().forPath(path).stream().map((child) -> path + "/" + child);
		}
		catch (NoNodeException ex) {
			return Stream.of();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private void delete(String path) {
		try {
			connected().delete().forPath(path);
		}
		catch (NoNodeException ex) {
			// The owner was faster
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private synchronized CuratorFramework connected() {
		if (this.client.getState() != CuratorFrameworkState.STARTED) {
			this.client.start();
		}
		return this.client;
	}

	@Override
	public void close() {
		this.client.close();
	}

}
