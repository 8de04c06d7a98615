// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.Arrays;
import java.util.List;
import java.util.Set;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.transaction.TransactionManager;

/**
 * Warns of excluded names that no transaction manager has. A part of an application that
 * has no transactions at all, as a test slice, is not warned.
 *
 * @param beanFactory the beans of the application
 * @param excluded the names
 */
record ExcludedManagersCheck(ListableBeanFactory beanFactory,
		Set<String> excluded) implements SmartInitializingSingleton {

	private static final Log logger = LogFactory.getLog(ExcludedManagersCheck.class);

	@Override
	public void afterSingletonsInstantiated() {
		List<String> managers = Arrays.asList(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory,
				TransactionManager.class, true, false));
		if (managers.isEmpty()) {
			return;
		}
		this.excluded.stream()
			.filter((name) -> !managers.contains(name))
			.forEach((name) -> logger
				.warn("distributed-lock.fencing.exclude names '" + name + "', but no transaction manager has that name"
						+ NearestName.hint(name, managers) + ". Correct the name, or remove it"));
	}

}
