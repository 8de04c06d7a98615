// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AdviceMode;

import io.github.lockstarter.interceptor.DistributedLockAdvisor;
import io.github.lockstarter.interceptor.LockDefinitionSource;
import io.github.lockstarter.validation.LockDefinitionValidator;

/**
 * Refuses annotated beans if the auto-configuration of the locks does not run, as in some
 * test slices: the beans would silently run without their locks.
 */
class UnlockedBeansInitializer implements ApplicationContextInitializer<ConfigurableApplicationContext> {

	@Override
	public void initialize(ConfigurableApplicationContext context) {
		if (context.getEnvironment().getProperty("distributed-lock.enabled", Boolean.class, true)) {
			context.addBeanFactoryPostProcessor(UnlockedBeansInitializer::check);
		}
	}

	/** At this point, all bean definitions exist, but no beans. */
	private static void check(ConfigurableListableBeanFactory beanFactory) {
		// Without AspectJ, the validator alone refuses the beans that are to be woven
		if (!has(beanFactory, DistributedLockAdvisor.class) && !has(beanFactory, LockDefinitionValidator.class)) {
			beanFactory.addBeanPostProcessor(
					new LockDefinitionValidator(new LockDefinitionSource(beanFactory), beanFactory, AdviceMode.PROXY));
		}
	}

	private static boolean has(ConfigurableListableBeanFactory beanFactory, Class<?> type) {
		return beanFactory.getBeanNamesForType(type, true, false).length > 0;
	}

}
