// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.net.InetSocketAddress;
import java.util.List;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.zookeeper.client.ConnectStringParser;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.spring.LockRegistryFactory;
import io.github.lockstarter.zookeeper.ZooKeeperLockSettings;
import io.github.lockstarter.zookeeper.ZooKeeperLockStore;

/**
 * Declares the store {@code zookeeper}, with a session of its own or with that of the
 * application.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ ZooKeeperLockStore.class, CuratorFramework.class })
class ZooKeeperLockConfiguration {

	static final String REGISTRY = "zooKeeperLockRegistry";

	static final String STORE = "distributedLockZooKeeperStore";

	@Bean(name = REGISTRY, defaultCandidate = false)
	@Lazy
	@ConditionalOnMissingBean(name = REGISTRY)
	LockRegistry zooKeeperLockRegistry(LockRegistryFactory registries, @Qualifier(STORE) ZooKeeperLockStore store) {
		return registries.create("zookeeper", store);
	}

	@Bean(name = STORE, defaultCandidate = false)
	@Lazy
	ZooKeeperLockStore distributedLockZooKeeperStore(ListableBeanFactory beanFactory,
			DistributedLockProperties properties) {
		ZooKeeperLockProperties zookeeper = properties.zookeeper();
		ZooKeeperLockSettings settings = new ZooKeeperLockSettings(zookeeper.root(), zookeeper.sessionTimeout(),
				zookeeper.requestTimeout());
		String members = zookeeper.connectString();
		if (members != null) {
			requireAddresses(members);
			return ZooKeeperLockStore.connect(members, settings);
		}
		return new ZooKeeperLockStore(client(beanFactory), settings);
	}

	private static void requireAddresses(String members) {
		PropertyChecks.require(areAddresses(members), "zookeeper.connect-string", members,
				"Set it to the members of the ensemble, as in zk1:2181,zk2:2181,zk3:2181, or leave it out to use a"
						+ " CuratorFramework bean.");
	}

	/** The client would start with most invalid addresses, and grant no lock. */
	private static boolean areAddresses(String members) {
		try {
			List<InetSocketAddress> addresses = new ConnectStringParser(members).getServerAddresses();
			return !addresses.isEmpty() && addresses.stream().noneMatch((each) -> each.getHostString().isEmpty());
		}
		catch (IllegalArgumentException ex) {
			return false;
		}
	}

	private static CuratorFramework client(ListableBeanFactory beanFactory) {
		CuratorFramework client = beanFactory.getBeanProvider(CuratorFramework.class).getIfUnique();
		if (client == null) {
			throw notFound(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beanFactory, CuratorFramework.class));
		}
		if (client.getState() != CuratorFrameworkState.STARTED) {
			throw new LockStoreNotFoundException(
					"Distributed locks in ZooKeeper need a CuratorFramework bean that is started, but this one is in the state "
							+ client.getState(),
					"start it, for example with @Bean(initMethod = \"start\")");
		}
		return client;
	}

	private static LockStoreNotFoundException notFound(String[] names) {
		String members = "set distributed-lock.zookeeper.connect-string, as in zk1:2181,zk2:2181,zk3:2181";
		if (names.length == 0) {
			return new LockStoreNotFoundException(
					"Distributed locks in ZooKeeper need the members of an ensemble, or a CuratorFramework bean",
					members);
		}
		return new LockStoreNotFoundException(
				"Distributed locks in ZooKeeper need one CuratorFramework bean, but there are several: '"
						+ String.join("', '", names) + "'",
				"mark one of them as @Primary, or " + members);
	}

}
