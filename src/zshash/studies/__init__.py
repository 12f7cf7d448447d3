"""Studies: a folder for each study, with a module for each experiment; one engine runs them all.

experiment → tasks → plan → runs on disk → findings → report

======================  ==================================================================
``evaluation.tasks``    a task, and a job: one run of a task with one seed
``evaluation.runs``     the store of runs, in one file or in a file for each task
``evaluation.running``  the runner, in one process or several
``planning``            the runs that the store does not have yet
``reproduction``        a study with its store and its report, as the command line uses it
``configuration``       experiments as configurations in TOML, also a user's own
``pages``               the page of a study that has no claims to judge
``zsh2016``             the experiments of the zero-shot hashing paper
``mth2026``             the study behind MTH
``names2026``           search by the names of hidden categories, and the related work
``cnnh2014``            CNNH from the pixels of CIFAR-10
``rivals2026``          all methods and quantisers at the same number of bytes
``demo``                the demonstration on handwritten digits
======================  ==================================================================
"""
