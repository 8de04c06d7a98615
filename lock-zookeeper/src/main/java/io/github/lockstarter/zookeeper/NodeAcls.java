// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.util.List;

import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.proto.CreateRequest;

/**
 * The access control lists that the application has configured for its client.
 */
final class NodeAcls {

	private static final byte[] NO_CONTENT = new byte[0];

	private final CuratorFramework client;

	NodeAcls(CuratorFramework client) {
		// A namespace would be created by a request that blocks
		this.client = client.usingNamespace(null);
	}

	/**
	 * Return the list for a new node.
	 */
	List<ACL> of(String path) {
		try {
			// Only an operation that is never sent reveals the list
			return ((CreateRequest) this.client.transactionOp()
				.create()
				.withMode(CreateMode.PERSISTENT)
				.forPath(path, NO_CONTENT)
				.get()
				.toRequestRecord()).getAcl();
		}
		catch (RuntimeException ex) {
			throw ex;
		}
		catch (Exception ex) {
			throw new IllegalStateException("There is no access control list for '" + path + "'", ex);
		}
	}

}
